package org.apache.spark.sql.colocate.layout

import java.util.{Collections, LinkedHashMap, Map => JMap}

/** A cache of the most recently used keys. Thread-safe; two threads may compute the same value. */
private[colocate] class Recent[K, V](capacity: Int = 1000) {

  private val found: JMap[K, V] = Collections.synchronizedMap(new LinkedHashMap[K, V](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[K, V]): Boolean = size() > capacity
  })

  def get(key: K): Option[V] = Option(found.get(key))

  def getOrElse(key: K)(find: => V): V = get(key).getOrElse {
    val value = find
    found.put(key, value)
    value
  }
}

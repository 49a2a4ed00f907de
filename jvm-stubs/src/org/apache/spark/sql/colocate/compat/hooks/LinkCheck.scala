package org.apache.spark.sql.colocate.compat.hooks

import java.lang.invoke.{MethodHandles, MethodType}

import scala.collection.mutable

import org.apache.xbean.asm9._

/**
 * Tries all that the compiled objects of `compat.delta` use of Delta: each class, method, constructor and field that
 * their class files name, with its exact types, as the JVM looks for it at the first call. So a list of what is used
 * can't be incomplete or old: there is none.
 */
private[hooks] object LinkCheck {

  private val Adapter = "org/apache/spark/sql/colocate/compat/delta/"
  private val deltas =
    Seq("org/apache/spark/sql/delta/", "io/delta/", "org/apache/spark/sql/catalyst/plans/logical/Delta")

  /** Fails if a part is gone that this object uses, or a class of its package that it needs. The error names it. */
  def apply(adapter: AnyRef): Unit = new LinkCheck(adapter.getClass.getClassLoader).ofClass(internal(adapter.getClass))

  private def internal(found: Class[_]): String = Type.getInternalName(found)
}

private class LinkCheck(loader: ClassLoader) {
  import LinkCheck._

  private val seen = mutable.Set.empty[String]
  private val lookup = MethodHandles.lookup()

  /** @param name with slashes, as in class files */
  def ofClass(name: String): Unit = if (seen.add(name)) {
    load(name, initialize = true) // the JVM verifies it, too
    val file = loader.getResourceAsStream(s"$name.class")
    try new ClassReader(file).accept(new References, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES)
    finally file.close()
  }

  private def use(owner: String)(find: Class[_] => Unit): Unit =
    if (owner.startsWith(Adapter)) ofClass(owner)
    else if (deltas.exists(owner.startsWith)) find(load(owner, initialize = false))

  private def load(name: String, initialize: Boolean): Class[_] =
    Class.forName(name.replace('/', '.'), initialize, loader)

  private def method(opcode: Int, owner: Class[_], name: String, descriptor: String): Unit = {
    val types = MethodType.fromMethodDescriptorString(descriptor, loader)
    if (name == "<init>") lookup.findConstructor(owner, types)
    else if (opcode == Opcodes.INVOKESTATIC) lookup.findStatic(owner, name, types)
    else lookup.findVirtual(owner, name, types)
  }

  private def field(opcode: Int, owner: Class[_], name: String, descriptor: String): Unit = {
    val kind = MethodType.fromMethodDescriptorString(s"()$descriptor", loader).returnType
    if (opcode == Opcodes.GETSTATIC) lookup.findStaticGetter(owner, name, kind)
    else lookup.findGetter(owner, name, kind)
  }

  private class References extends ClassVisitor(Opcodes.ASM9) {
    override def visitMethod(
        access: Int, name: String, descriptor: String, signature: String, thrown: Array[String]): MethodVisitor =
      new Instructions
  }

  private class Instructions extends MethodVisitor(Opcodes.ASM9) {

    override def visitMethodInsn(
        opcode: Int, owner: String, name: String, descriptor: String, isInterface: Boolean): Unit =
      use(owner)(method(opcode, _, name, descriptor))

    override def visitFieldInsn(opcode: Int, owner: String, name: String, descriptor: String): Unit =
      use(owner)(field(opcode, _, name, descriptor))

    /** A cast, a test of the class, or a new object. */
    override def visitTypeInsn(opcode: Int, name: String): Unit = use(name)(_ => ())
  }
}

--! Queries that the layout serves: no Exchange, the rows of stock Spark.
--! Tables: by (k) into 4 buckets a, b (Delta) and c (Parquet); by (k, s) into 4 e (Delta) and f (ORC); by (s, k) x; by (k)
--! into 8 a8, into 3 a3; m by (k) with range partitions of 8, 4 and 6 buckets; by a BIGINT k w; u with unique keys; p
--! without a layout. Null keys and empty buckets in all of them.
--! served.txt beside this file holds each plan and its EXPLAIN lines. Written anew by
--!   COLOCATE_REGENERATE=1 ./run test tests/spark/rules/test_plan_cases.py

-- member scan
SELECT k, count(*), sum(v) FROM a GROUP BY k;

-- scan read as m of n
SELECT a.v, a8.v FROM a JOIN a8 ON a.k = a8.k;

-- range partitions of n1, n2 and n3 buckets, read as m
SELECT k, count(*), sum(v) FROM m GROUP BY k;

-- two of these partitions, read as another m
SELECT m.v, a.v FROM m JOIN a ON m.k = a.k WHERE m.v < 30;

-- project under another name
SELECT x, count(*) FROM (SELECT k AS x, v + 1 AS y FROM a WHERE v > 3) GROUP BY x;

-- filter and sort in the task
SELECT k, max(v) FROM (SELECT k, v FROM a WHERE s > 's0' SORT BY v) GROUP BY k;

-- inner join, by the left keys
SELECT a.k, count(*) FROM a JOIN b ON a.k = b.k GROUP BY a.k;

-- inner join, by the right keys
SELECT b.k, count(*) FROM a JOIN b ON a.k = b.k AND a.v < b.v GROUP BY b.k;

-- inner join, chained by either side
SELECT a.v, c.v FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k;

-- inner join on (k, s) in another order
SELECT e.v, f.v FROM e JOIN f ON e.s = f.s AND e.k = f.k;

-- left join, by the left keys
SELECT a.k, count(b.v) FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.k;

-- right join, by the right keys
SELECT b.k, count(a.v) FROM a RIGHT JOIN b ON a.k = b.k GROUP BY b.k;

-- left single, by the left keys
SELECT k, max(x) FROM (SELECT a.k, (SELECT u.v FROM u WHERE u.k = a.k) AS x FROM a) GROUP BY k;

-- semi join, by the left keys
SELECT a.k, count(*) FROM a LEFT SEMI JOIN b ON a.k = b.k GROUP BY a.k;

-- anti join, by the left keys
SELECT a.k, count(*) FROM a LEFT ANTI JOIN b ON a.k = b.k GROUP BY a.k;

-- existence join, by the left keys
SELECT k, count(*) FROM a WHERE v < 5 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k) GROUP BY k;

-- null-safe equality
SELECT a.v, b.v FROM a JOIN b ON a.k <=> b.k;

-- aggregate by a superset
SELECT k, s, count(*) FROM a GROUP BY s, k;

-- distinct
SELECT DISTINCT s, k FROM a;

-- window by a superset
SELECT k, v, sum(v) OVER (PARTITION BY s, k) FROM a;

-- union all
SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k;

-- join over union all
SELECT c.v, u.v FROM (SELECT k, v FROM a UNION ALL SELECT k, v FROM b) u JOIN c ON u.k = c.k;

-- intersect
SELECT k FROM a INTERSECT SELECT k FROM b;

-- except
SELECT k FROM a EXCEPT SELECT k FROM b WHERE v > 45;

-- lateral view keeps the rows in their task
SELECT k, count(*) FROM a LATERAL VIEW explode(array(1, 2)) t AS i GROUP BY k;

-- left join, chained by the right key
SELECT a.v, b.v, c.v FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.k = c.k;

-- right join, chained by the left key
SELECT a.v, c.v FROM b RIGHT JOIN a ON a.k = b.k AND b.v < 30 FULL JOIN c ON b.k = c.k;

-- left join, then anti by the right key
SELECT a.v FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT ANTI JOIN c ON b.k = c.k;

-- left joins, chained twice by extended keys
SELECT a.v, d.v FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.k = c.k LEFT JOIN u d ON c.k = d.k;

-- full join, chained by coalesced keys, grouped by them
SELECT k, count(*) FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k) GROUP BY k;

-- full join, chained by the coalesced keys, null-safe
SELECT a.v, c.v FROM a FULL JOIN b ON a.k = b.k JOIN c ON coalesce(a.k, b.k) <=> c.k AND c.v < 20;

-- full join, chained by the left key
SELECT a.v, b.v, c.v FROM a FULL JOIN b ON a.k = b.k AND a.v < b.v LEFT JOIN c ON a.k = c.k;

-- full join, chained by the coalesced keys
SELECT k, a.v, b.v, c.v FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k);

-- full joins, chained by the coalesced keys
SELECT k, a.v, b.v, c.v FROM a FULL JOIN b USING (k) FULL JOIN c USING (k);

-- full join on (k, s), chained by both coalesced keys
SELECT k, s, e.v, f.v, g.v FROM e FULL JOIN f USING (s, k) JOIN e g USING (k, s);

-- left join, chained by the right key, grouped by the left one
SELECT a.k, count(c.v) FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.k = c.k GROUP BY a.k;

-- grouping sets that all have the key
SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS ((k, s), (k));

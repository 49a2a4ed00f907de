--! Beside each rule of the proof a query that it must not serve: an Exchange stays, and the rows are right.
--! Tables: by (k) into 4 buckets a, b (Delta) and c (Parquet); by (k, s) into 4 e (Delta) and f (ORC); by (s, k) x; by (k)
--! into 8 a8, into 3 a3; m5 by (k) with range partitions of 8, 5 and 10 buckets; by a BIGINT k w; u with unique keys; p
--! without a layout. Null keys and empty buckets in all of them.
--! near_miss.txt beside this file holds each plan and its EXPLAIN lines. Written anew by
--!   COLOCATE_REGENERATE=1 ./run test tests/spark/rules/test_plan_cases.py

-- aggregate by another column
SELECT v % 5, count(*) FROM a GROUP BY v % 5;

-- counts without a common divisor
SELECT a.v, a3.v FROM a JOIN a3 ON a.k = a3.k;

-- range partitions whose numbers of buckets have no common divisor
SELECT k, count(*) FROM m5 GROUP BY k;

-- arithmetic on the key
SELECT x, count(*) FROM (SELECT k + 1 AS x FROM a) GROUP BY x;

-- coalesce of the key
SELECT x, count(*) FROM (SELECT coalesce(k, 1) AS x FROM a) GROUP BY x;

-- another column under the key's name
SELECT k, count(*) FROM (SELECT j AS k FROM a) GROUP BY k;

-- a cast key
SELECT a.v, w.v FROM a JOIN w ON a.k = w.k;

-- a cast key, aggregated
SELECT x, count(*) FROM (SELECT cast(k AS BIGINT) AS x FROM a) GROUP BY x;

-- key with another column
SELECT a.v, b.v FROM a JOIN b ON a.k = b.j;

-- key plus one
SELECT a.v, b.v FROM a JOIN b ON a.k = b.k + 1;

-- a subset of the keys, joined
SELECT e.v, f.v FROM e JOIN f ON e.k = f.k AND e.v = f.v;

-- a subset of the keys, aggregated
SELECT s, count(*) FROM e GROUP BY s;

-- transposed keys
SELECT e.v, x.v FROM e JOIN x ON e.k = x.k AND e.s = x.s;

-- left join, grouped by the right key
SELECT b.k, count(*) FROM a LEFT JOIN b ON a.k = b.k GROUP BY b.k;

-- left join, distinct right keys
SELECT DISTINCT b.k, b.s FROM a LEFT JOIN b ON a.k = b.k;

-- left join, window by the right key
SELECT a.v, count(*) OVER (PARTITION BY b.k) FROM a LEFT JOIN b ON a.k = b.k;

-- left join, except by the right key
SELECT b.k FROM a LEFT JOIN b ON a.k = b.k EXCEPT SELECT k FROM c WHERE v < 9;

-- left join, then null-safe by the right key
SELECT a.v, c.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON b.k <=> c.k AND c.v < 20;

-- right join, grouped by the left key
SELECT a.k, count(*) FROM a RIGHT JOIN b ON a.k = b.k GROUP BY a.k;

-- full join, grouped by the left key
SELECT a.k, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY a.k;

-- full join, grouped by the right key
SELECT b.k, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY b.k;

-- full join, distinct
SELECT DISTINCT a.k FROM a FULL JOIN b ON a.k = b.k AND a.v = b.v;

-- full join, then null-safe
SELECT a.v, c.v FROM a FULL JOIN b ON a.k = b.k AND a.v = b.v JOIN c ON a.k <=> c.k AND c.v < 12;

-- coalesce of keys of other positions
SELECT coalesce(a.k, b.j), count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1;

-- coalesce without isnull
SELECT a.v, b.v FROM a JOIN b ON coalesce(a.k, 0) = coalesce(b.k, 0);

-- coalesce with other defaults
SELECT a.v, b.v FROM a JOIN b ON coalesce(a.k, 1) = coalesce(b.k, 0) AND isnull(a.k) = isnull(b.k);

-- isnull of another column
SELECT a.v, b.v FROM a JOIN b ON coalesce(a.k, 0) = coalesce(b.k, 0) AND isnull(a.j) = isnull(b.j);

-- rollup
SELECT k, s, count(*) FROM a GROUP BY ROLLUP (k, s);

-- cube
SELECT k, s, sum(v) FROM a GROUP BY CUBE (k, s);

-- grouping sets without the key
SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS ((k), (s));

-- union all of other positions
SELECT k, count(*) FROM (SELECT k, j FROM a UNION ALL SELECT j, k FROM b) GROUP BY k;

-- union all with a table without a layout
SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM p) GROUP BY k;

-- union all of other counts
SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM a3) GROUP BY k;

-- a repartition in between
SELECT k, count(*) FROM (SELECT /*+ REPARTITION(3, v) */ k, v FROM a) GROUP BY k;

-- a range partition in between
SELECT k, count(*) FROM (SELECT /*+ REPARTITION_BY_RANGE(3, k) */ * FROM a) GROUP BY k;

-- a global sort in between
SELECT k, v, row_number() OVER (ORDER BY v) FROM a;

-- one side without a layout
SELECT a.v, p.v FROM a FULL JOIN p ON a.k = p.k;

-- window by another column
SELECT k, count(*) OVER (PARTITION BY s) FROM a;

-- left join, chained by the right key, grouped by it
SELECT b.k, count(*) FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.k = c.k GROUP BY b.k;

-- left join, chained by another column of the right side
SELECT a.v, c.v FROM a LEFT JOIN b ON a.k = b.k AND b.v < 30 LEFT JOIN c ON b.j = c.k;

-- full join, chained by a coalesce of other positions
SELECT a.v, c.v FROM a FULL JOIN b ON a.k = b.k LEFT JOIN c ON coalesce(a.k, b.j) = c.k;

-- full join of keys that nulls extended before, grouped by the coalesced keys
SELECT coalesce(b.k, c.k), count(*) FROM a LEFT JOIN b ON a.k = b.k FULL JOIN c ON b.k = c.k GROUP BY 1;

-- full join on other columns, chained by coalesced keys
SELECT a.v, b.v, c.v FROM (SELECT a.k AS x, b.k AS y, a.v FROM a FULL JOIN b ON a.k = b.k AND a.j = b.j) a
  LEFT JOIN b ON a.y = b.j LEFT JOIN c ON coalesce(a.x, b.k) = c.k;

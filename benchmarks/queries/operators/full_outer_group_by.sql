-- FULL JOIN ... USING, and an aggregate by its key.
SELECT count(*), sum(n) FROM (
  SELECT k, count(*) AS n
  FROM (SELECT l_orderkey AS k, l_quantity FROM lineitem) FULL OUTER JOIN (SELECT o_orderkey AS k FROM orders) USING (k)
  GROUP BY k)

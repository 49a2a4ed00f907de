-- The same columns of the same tables and the same aggregate, without the join: no plan of the join can be faster.
SELECT count(l_orderkey) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem
UNION ALL
SELECT sum(o_orderkey), NULL FROM orders

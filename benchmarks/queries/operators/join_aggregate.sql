-- TPC-H Q18 without the customer's name
SELECT o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
FROM orders JOIN lineitem ON o_orderkey = l_orderkey
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
GROUP BY o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate, o_orderkey
LIMIT 100

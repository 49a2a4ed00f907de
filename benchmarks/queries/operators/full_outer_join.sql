SELECT count(l_orderkey) AS lines, count(o_orderkey) AS orders, sum(l_extendedprice) AS price, sum(o_totalprice) AS total
FROM lineitem FULL OUTER JOIN orders ON l_orderkey = o_orderkey

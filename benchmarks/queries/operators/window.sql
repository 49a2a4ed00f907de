SELECT count(*) AS orders, sum(l_extendedprice) AS price
FROM (
  SELECT l_extendedprice, row_number() OVER (PARTITION BY l_orderkey ORDER BY l_extendedprice DESC, l_linenumber) AS place
  FROM lineitem
) AS ranked
WHERE place = 1

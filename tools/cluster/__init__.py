"""Hosts on one machine: network namespaces with links of a given speed, and a Spark standalone cluster on them."""

package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Plants the bugs of a part of the product. Found as a service: tests of the core run without the parts. */
abstract class WrongOptimizer extends Rule[LogicalPlan]

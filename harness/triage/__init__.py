"""From failures to findings: signature, attribution, reduction, bisection."""

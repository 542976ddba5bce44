"""What came out: run records, their comparison, and reports. Pure: nothing here touches the outside."""

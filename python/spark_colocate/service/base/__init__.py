"""What all parts of the service share: requests and answers, transactions, access, configurations, beats."""

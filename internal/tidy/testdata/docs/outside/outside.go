package outside

def pictures():
    return {}

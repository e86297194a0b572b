"""Objects, dictionaries, strings and JSON: orders are made, indexed, written, read, summed up."""
import json
import random

rng = random.Random(7)


class Order:
    def __init__(self, number):
        self.number = number
        self.customer = f"customer-{rng.randrange(5000):05}"
        self.lines = [{"article": f"A{rng.randrange(20000)}", "count": rng.randrange(1, 9),
                       "price": rng.randrange(100, 99999) / 100}
                      for _ in range(rng.randrange(1, 8))]

    def total(self):
        return sum(line["count"] * line["price"] for line in self.lines)


total = 0
kept = []
for batch in range(3):
    orders = [Order(number) for number in range(15000)]
    by_customer = {}
    for order in orders:
        by_customer.setdefault(order.customer, []).append(order)
    text = json.dumps([vars(order) for order in orders])
    again = json.loads(text)
    words = text.replace('"', " ").split()
    total += len(set(words)) + sum(len(each["lines"]) for each in again)
    kept.append({customer: sorted(order.total() for order in theirs)
                 for customer, theirs in by_customer.items()})
print(total, sum(len(each) for each in kept))

// What Swift allocates: the same is printed whoever gives it.
final class Node {
  var value: Int
  var next: Node?
  init(_ value: Int, _ next: Node?) {
    self.value = value
    self.next = next
  }
}

var words: [String] = []
for i in 0..<100000 { words.append("\(i * 7919 % 100003):\(i)") }
words.sort()
var lengths: [String: Int] = [:]
for word in words { lengths[String(word.prefix(3)), default: 0] += word.count }
for key in lengths.keys.sorted() { print(key, lengths[key]!) }

var list: Node? = nil
for i in 0..<10000 { list = Node(i, list) }
var sum = 0
while let node = list {
  sum += node.value
  list = node.next
}
print(sum)

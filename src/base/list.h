// Doubly linked lists: `next` and `prev` are the fields of an item that link it, and `head` is a
// pointer to the first item, whose `prev` is NULL.
#ifndef MI_BASE_LIST_H
#define MI_BASE_LIST_H

#define LIST_ADD(head, item, next, prev)           \
  do {                                             \
    (item)->prev = NULL;                           \
    (item)->next = (head);                         \
    if ((head) != NULL) { (head)->prev = (item); } \
    (head) = (item);                               \
  } while (0)

#define LIST_REMOVE(head, item, next, prev)                          \
  do {                                                               \
    if ((item)->next != NULL) { (item)->next->prev = (item)->prev; } \
    if ((item)->prev != NULL) {                                      \
      (item)->prev->next = (item)->next;                             \
    } else {                                                         \
      (head) = (item)->next;                                         \
    }                                                                \
  } while (0)

#endif

/* What Foundation and Grand Central Dispatch allocate: the same is printed whoever gives it. */
#import <Foundation/Foundation.h>

enum { COUNT = 100000, PARTS = 8 };

int main(void) {
  @autoreleasepool {
    NSMutableArray<NSString*>* words = [NSMutableArray array];
    for (int i = 0; i < COUNT; i++) {
      [words addObject:[NSString stringWithFormat:@"%d:%d", i * 7919 % 100003, i]];
    }
    [words sortUsingSelector:@selector(compare:)];
    NSMutableDictionary<NSNumber*, NSString*>* parts = [NSMutableDictionary dictionary];
    NSLock* lock = [NSLock new];
    dispatch_apply(PARTS, dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^(size_t part) {
      @autoreleasepool {
        NSRange range = NSMakeRange(part * (COUNT / PARTS), COUNT / PARTS);
        NSString* joined = [[words subarrayWithRange:range] componentsJoinedByString:@" "];
        [lock lock];
        parts[@(part)] = joined;
        [lock unlock];
      }
    });
    for (int part = 0; part < PARTS; part++) {
      printf("%zu %.20s\n", (size_t)parts[@(part)].length, parts[@(part)].UTF8String);
    }
    NSData* json = [NSJSONSerialization dataWithJSONObject:words options:0 error:nil];
    NSArray* back = [NSJSONSerialization JSONObjectWithData:json options:0 error:nil];
    printf("%zu bytes, %s\n", (size_t)json.length, [back isEqual:words] ? "the same" : "differs");
  }
  return 0;
}

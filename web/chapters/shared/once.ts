/** Makes a value when it is first asked for, and the same one after that; what was rejected is made anew. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => {
    if (made) return made;
    made = make();
    made.catch(() => (made = null));
    return made;
  };
}

// The table of a "Precompiled" normalizer, as SentencePiece compiles one.

/** A table of replacements and its texts' places. */
export type Replacements = Map<string, string>;

/** Each longest sequence of the table replaced, from the left. */
export function replaced(map: Replacements, longest: number, text: string): string {
  const characters = [...text];
  let out = '';
  for (let at = 0; at < characters.length;) {
    let length = longest;
    while (length > 0 && !map.has(characters.slice(at, at + length).join(''))) --length;
    out += length > 0 ? map.get(characters.slice(at, at + length).join('')) : characters[at];
    at += Math.max(1, length);
  }
  return out;
}

interface Node {
  next: Map<number, Node>;
  value: number | null;
}

/** Base64 of a double-array trie (darts-clone) over the bytes of the sequences, and of the texts. */
export function compiled(map: Replacements): string {
  const rootNode: Node = { next: new Map(), value: null };
  const texts: number[] = [];
  for (const [sequence, text] of map) {
    let node = rootNode;
    for (const byte of Buffer.from(sequence)) {
      if (!node.next.has(byte)) node.next.set(byte, { next: new Map(), value: null });
      node = node.next.get(byte)!;
    }
    node.value = texts.length;
    texts.push(...Buffer.from(text), 0);
  }
  const units: number[] = [0];
  const bases = new Set<number>();
  let least = 1;
  const place = (node: Node, at: number, label: number) => {
    const labels = [...(node.value === null ? [] : [0]), ...node.next.keys()];
    let base = least;
    while (bases.has(base) || labels.some((it) => units[base ^ it] !== undefined)) ++base;
    bases.add(base);
    while (units[least] !== undefined || bases.has(least)) ++least;
    // A base differs from its place by less than 2^21 here, so that no unit needs the flag for larger ones.
    units[at] = label + (node.value === null ? 0 : 1 << 8) + (at ^ base) * 1024;
    if (node.value !== null) units[base] = 0x80000000 + node.value;
    for (const it of node.next.keys()) units[base ^ it] = 0;
    for (const [it, child] of node.next) place(child, base ^ it, it);
  };
  place(rootNode, 0, 0);
  const trie = Buffer.alloc(4 * units.length);
  for (const [k, unit] of units.entries()) trie.writeUInt32LE(unit ?? 0, 4 * k);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(trie.length);
  return Buffer.concat([size, trie, Buffer.from(texts)]).toString('base64');
}

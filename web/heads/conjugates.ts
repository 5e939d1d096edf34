/** An eigenvalue: real and imaginary part. */
type Complex = readonly [re: number, im: number];

/** Eigenvalues of a real matrix with only the first of each pair of conjugates, which follow each other. */
export function withoutConjugates(eigenvalues: readonly Complex[]): Complex[] {
  const kept: Complex[] = [];
  for (let at = 0; at < eigenvalues.length; at++) {
    const [re, im] = eigenvalues[at];
    kept.push([re, im]);
    if (im === 0) continue;
    const [next, other] = eigenvalues[++at] ?? [];
    if (next !== re || other !== -im) throw new Error(`the conjugate of ${re} + ${im}i must follow it`);
  }
  return kept;
}

/** All of them, one after the other, from a flat list of those. */
export function withConjugates(kept: readonly number[]): Float64Array {
  const all: number[] = [];
  for (let at = 0; at < kept.length; at += 2) {
    const [re, im] = [kept[at], kept[at + 1]];
    all.push(re, im);
    if (im !== 0) all.push(re, -im);
  }
  return Float64Array.from(all);
}

/** The JSON that a command prints; its fields are those of `eigenscope schema`. */
type Printed = any;

export function printed(words: readonly string[]): Printed;
export function printedBeside(words: readonly string[]): Promise<Printed>;
export function wordsOf(name: string, input: object): string[];

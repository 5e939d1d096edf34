/** The texts between quotation marks in a list that the library declares in a file of its own. */
export const listed = (file: string): string[] => [...file.matchAll(/"(\w+)"/g)].map(([, text]) => text);

/** The bytes that a data: URL of base64 holds. */
export function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  const text = atob(url.slice(url.indexOf(',') + 1));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

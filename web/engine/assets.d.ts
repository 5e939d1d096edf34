// What the plugin shipped-files gives for an import with its query.

interface ShippedParts {
  /** As the build wrote it; a data: URL inside the single file. */
  url: string;
  /** Length in bytes. */
  bytes: number;
  crc32: number;
}

declare module '*?shipped' {
  const file: ShippedParts;
  export default file;
}

/** Null in the single file, which leaves it out. */
declare module '*?shipped-beside' {
  const file: ShippedParts | null;
  export default file;
}

/** What partials.mts makes of the markup of the chapters after the first: the inside of their sections, by name. */
declare module 'virtual:chapters' {
  const markup: Readonly<Record<string, string>>;
  export default markup;
}

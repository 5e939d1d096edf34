// What the plugin shipped-files gives for an import with its query.

declare module '*?shipped' {
  const file: {
    /** As the build wrote it; a data: URL inside the single file. */
    url: string;
    /** Length in bytes. */
    bytes: number;
    crc32: number;
  };
  export default file;
}

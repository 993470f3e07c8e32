/** The columns with hashes of the store's files: one list for purges and for the check of a backup. */

export type BlobColumn = {
  table: string;
  column: string;
  /** The property with the hash, of a column of JSON. */
  property?: string;
  /** Hashes are hex text, unless they are `bytea`. */
  isBinary?: true;
  /** Whether the files are manifests, which name further files. */
  isManifest?: true;
  /** The column of the site that the files belong to; absent if they belong to none, or if another column names them. */
  siteColumn?: 'id' | 'site_id';
  /** Whether the store may not have the file yet. */
  isAwaited?: true;
};

/** Tests compare this list with the schema. */
export const blobColumns: readonly BlobColumn[] = [
  { table: 'deployment', column: 'manifest_sha256', siteColumn: 'site_id', isManifest: true },
  {
    table: 'deployment',
    column: 'published_output',
    property: 'manifestSha256',
    siteColumn: 'site_id',
    isManifest: true,
  },
  { table: 'held_file', column: 'sha256', siteColumn: 'site_id', isBinary: true },
  { table: 'site', column: 'redirects_sha256', siteColumn: 'id' },
  { table: 'comment_thread', column: 'picture_sha256', siteColumn: 'site_id' },
  { table: 'rendering_picture', column: 'sha256', siteColumn: 'site_id' },
  { table: 'sketch_host', column: 'sha256' },
  { table: 'upload_file', column: 'sha256', isBinary: true, isAwaited: true },
];

/** The hash as `bytea` in SQL, or null. */
export function hashIn({ table, column, property, isBinary }: BlobColumn): string {
  const value = `${table}.${column}`;
  if (isBinary) return value;
  return `decode(${property ? `${value} ->> '${property}'` : value}, 'hex')`;
}

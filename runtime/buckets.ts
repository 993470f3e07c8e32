/** How a folder, or a folder of a bucket, is written. The URL of another kind of store is not a folder. */
export const folderOrBucket =
  /^(?![sS]3:|[A-Za-z][A-Za-z0-9+.-]*:\/\/)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[a-zA-Z0-9._/-]*)?$/;

/** Parses `s3://bucket/folder`. The folder becomes a prefix, which is empty or ends with a slash. */
export function bucketOf(text: string): { bucket: string; prefix: string } {
  const [bucket = '', ...folders] = text.slice('s3://'.length).split('/').filter(Boolean);
  return { bucket, prefix: folders.map((folder) => `${folder}/`).join('') };
}

/** A server that accepted a large file, whose response was lost, and that is strict on the retry. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openBucket } from '#providers/store/s3-bucket.ts';

const fault = (code: string) => `<Error><Code>${code}</Code><Message>m</Message></Error>`;
const answers = {
  'POST uploads': [200, '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'],
  'PUT partNumber': [200, ''],
  // As S3 says it where the first asking did it: the name is taken, and of the upload nothing is left.
  'POST uploadId': [412, fault('PreconditionFailed')],
  'DELETE uploadId': [404, fault('NoSuchUpload')],
} as const;

test('a write whose response was lost is stored, and its upload is not left', async ({ onTestFinished }) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://s3').searchParams;
    const what = ['uploads', 'partNumber', 'uploadId'].find((name) => query.has(name));
    const [status, body] = answers[`${request.method} ${what}` as keyof typeof answers];
    asked.push(`${request.method} ${what}`);
    request.resume().once('end', () => response.writeHead(status, { etag: '"e"' }).end(body));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = openBucket({ endpoint, region: 'us-east-1', credentials, bucket: 'b', prefix: '' });
  const parts = Readable.from([Buffer.from('one'), Buffer.from('two')]);
  expect(await bucket.putParts('name', parts, { onlyIfAbsent: true })).toBe(false);
  expect(asked).toEqual(['POST uploads', 'PUT partNumber', 'PUT partNumber', 'POST uploadId', 'DELETE uploadId']);
});

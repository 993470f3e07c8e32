/** One bucket of an S3-compatible server, or a folder of it: the operations that the store needs, with time-outs. */
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describe, type Found, ifAbsent, type Metadata, orMissing } from './s3-responses.ts';

export type BucketAddress = {
  bucket: string;
  /** Empty, or ends with a slash. */
  prefix: string;
  /** Absent for the vendor's own endpoint. */
  endpoint?: string | undefined;
  region: string;
  /** Absent if the machine itself has a role. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
};

export type Opened = Found & { body: Readable; etag: string };
export type Range = { start: number; end?: number };
export type PutOptions = { metadata?: Metadata; sha256?: string; onlyIfAbsent?: boolean };
export type Listed = { name: string; modifiedAt: Date; bytes: number };
export type Bucket = ReturnType<typeof openBucket>;

const partsAtOnce = 3;

/** Milliseconds without traffic (`idle`), and for all attempts at a query (`ask`) or an upload (`send`). */
export type Timeouts = { idle: number; ask: number; send: number };
const defaultTimeouts: Timeouts = { idle: 10_000, ask: 20_000, send: 120_000 };

export function openBucket(
  { bucket: Bucket, prefix, endpoint, region, credentials }: BucketAddress,
  timeouts: Timeouts = defaultTimeouts,
) {
  const client = new S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(credentials ? { credentials } : {}),
    maxAttempts: 5,
    // The store verifies hashes itself.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 2_000,
      socketTimeout: timeouts.idle,
      httpAgent: { keepAlive: true, maxSockets: 256 },
      httpsAgent: { keepAlive: true, maxSockets: 256 },
    },
  });
  const within = (ms: number) => ({ abortSignal: AbortSignal.timeout(ms) });
  const keyOf = (name: string) => prefix + name;
  let isThere: Promise<unknown> | undefined;

  async function head(name: string): Promise<Found | undefined> {
    const asked = new HeadObjectCommand({ Bucket, Key: keyOf(name) });
    const found = await orMissing(client.send(asked, within(timeouts.ask)));
    if (!found) await beThere();
    return found && describe(found);
  }

  /** A HEAD of a missing object does not say whether the bucket exists. */
  async function beThere(): Promise<void> {
    isThere ??= client.send(new HeadBucketCommand({ Bucket }), within(timeouts.ask));
    await isThere.catch((error) => {
      isThere = undefined;
      throw error;
    });
  }

  /** The time-out covers the start of the response: its body arrives as fast as it is read. */
  async function get(name: string, range?: Range, etag?: string): Promise<Opened | undefined> {
    const asked = new GetObjectCommand({
      Bucket,
      Key: keyOf(name),
      ...(range ? { Range: `bytes=${range.start}-${range.end ?? ''}` } : {}),
      ...(etag ? { IfMatch: etag } : {}),
    });
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), timeouts.ask);
    try {
      const found = await orMissing(client.send(asked, { abortSignal: giveUp.signal }));
      return found && { ...describe(found), etag: found.ETag ?? '', body: found.Body as Readable };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns false if `onlyIfAbsent` found the name taken. */
  function put(name: string, content: Buffer, { metadata, sha256, onlyIfAbsent }: PutOptions = {}): Promise<boolean> {
    return ifAbsent(() =>
      client.send(
        new PutObjectCommand({
          Bucket,
          Key: keyOf(name),
          Body: content,
          ...(metadata ? { Metadata: metadata } : {}),
          ...(sha256 ? { ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64') } : {}),
          ...(onlyIfAbsent ? { IfNoneMatch: '*' } : {}),
        }),
        within(timeouts.send),
      ),
    );
  }

  /** Sends parts as they arrive; the name appears when the last is accepted. Returns as `put` does. */
  async function putParts(name: string, parts: AsyncIterable<Buffer>, options: PutOptions = {}): Promise<boolean> {
    const object = { Bucket, Key: keyOf(name) };
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ ...object, ...(options.metadata ? { Metadata: options.metadata } : {}) }),
      within(timeouts.ask),
    );
    const sending = new Map<number, Promise<void>>();
    const taken: { PartNumber: number; ETag: string | undefined }[] = [];
    const send = async (PartNumber: number, Body: Buffer) => {
      const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body });
      const { ETag } = await client.send(command, within(timeouts.send));
      taken.push({ PartNumber, ETag });
      sending.delete(PartNumber);
    };
    try {
      let number = 0;
      for await (const part of parts) {
        number += 1;
        const one = send(number, part);
        one.catch(() => {}); // handled by the race or at the end
        sending.set(number, one);
        if (sending.size >= partsAtOnce) await Promise.race(sending.values());
      }
      await Promise.all(sending.values());
      taken.sort((one, other) => one.PartNumber - other.PartNumber);
      const complete = new CompleteMultipartUploadCommand({
        ...object,
        UploadId,
        MultipartUpload: { Parts: taken },
        ...(options.onlyIfAbsent ? { IfNoneMatch: '*' } : {}),
      });
      const isNew = await ifAbsent(() => client.send(complete, within(timeouts.send)));
      // The upload no longer exists if the first attempt succeeded and its response was lost.
      if (!isNew) await orMissing(abandon(object.Key, UploadId));
      return isNew;
    } catch (error) {
      await Promise.allSettled(sending.values());
      await abandon(object.Key, UploadId).catch(() => {}); // the sweep removes it later
      throw error;
    }
  }

  async function abandon(Key: string, UploadId: string | undefined): Promise<void> {
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), within(timeouts.ask));
  }

  async function remove(name: string): Promise<void> {
    // Some servers return 404 for an object that is already gone.
    await orMissing(client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(name) }), within(timeouts.ask)));
  }

  /** Everything under a folder, in pages of the server's size. */
  async function* list(folder: string): AsyncGenerator<Listed> {
    for (let from: string | undefined; ; ) {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: keyOf(folder), ...(from ? { ContinuationToken: from } : {}) }),
        within(timeouts.ask),
      );
      for (const { Key, LastModified, Size } of page.Contents ?? [])
        if (Key && LastModified) yield { name: Key.slice(prefix.length), modifiedAt: LastModified, bytes: Size ?? 0 };
      from = page.IsTruncated ? page.NextContinuationToken : undefined;
      if (!from) return;
    }
  }

  /** Aborts uploads that began before this moment. Returns how many. */
  async function abandonBefore(moment: Date): Promise<number> {
    let abandoned = 0;
    for (let marker = {}; ; ) {
      const page = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...marker }),
        within(timeouts.ask),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (!Key || !Initiated || Initiated >= moment) continue;
        await orMissing(abandon(Key, UploadId));
        abandoned += 1;
      }
      if (!page.IsTruncated) return abandoned;
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  return { head, get, put, putParts, remove, list, abandonBefore };
}

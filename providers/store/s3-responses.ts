/** Responses of an S3-compatible server. */

export type Metadata = Record<string, string>;
export type Found = { bytes: number; modifiedAt: Date; metadata: Metadata };

type Described = {
  ContentLength?: number | undefined;
  LastModified?: Date | undefined;
  Metadata?: Metadata | undefined;
};

/** What the store needs of an object's description. */
export function describe(found: Described): Found {
  return {
    bytes: found.ContentLength ?? 0,
    modifiedAt: found.LastModified ?? new Date(0),
    metadata: found.Metadata ?? {},
  };
}

const statusOf = (error: unknown) =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;

/** Undefined for an object that does not exist. */
export async function orMissing<T>(asking: Promise<T>): Promise<T | undefined> {
  return asking.catch((error) => {
    const { name } = error as Error;
    if (statusOf(error) === 404 && name !== 'NoSuchBucket') return undefined;
    throw error;
  });
}

/** False if the name is taken. 412: the name is taken. 409: another writer is creating it at this moment, so retry. */
export async function ifAbsent(putting: () => Promise<unknown>): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await putting();
      return true;
    } catch (error) {
      if (statusOf(error) === 412) return false;
      if (statusOf(error) !== 409 || attempt === 5) throw error;
    }
  }
}

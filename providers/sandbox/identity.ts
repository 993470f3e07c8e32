/** Which build image this version of the platform builds with, for those that build nothing themselves. */
import { imageId } from './image/image.ts';

let known: Promise<string> | undefined;

/** Identity of Node, packages and runner together, as `Sandbox.image` of the workers says it. Read once. */
export function buildImageId(): Promise<string> {
  known ??= imageId();
  return known;
}

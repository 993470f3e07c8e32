/** The build image of this version, for processes that build nothing themselves. */
import { imageId } from './image.ts';

let known: Promise<string> | undefined;

/** Identity of Node, packages and runner together, equal to the workers' `Sandbox.image`. Read once. */
export function buildImageId(): Promise<string> {
  known ??= imageId();
  return known;
}

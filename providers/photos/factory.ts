/** Opens the photo library that the configuration selects. */

import type { PhotoLibrary } from '#providers/photos.ts';
import type { Config } from '#runtime/config.ts';
import { openOfflineLibrary } from './offline.ts';
import { openPexels } from './pexels.ts';

export function createPhotoLibrary({ photos, pexels }: Pick<Config, 'photos' | 'pexels'>): PhotoLibrary | undefined {
  if (photos === 'offline') return openOfflineLibrary();
  return photos === 'pexels' ? openPexels(pexels) : undefined;
}

/** The provider's package. It is loaded at its first use: its 200 modules take 0.2 s and 20 MB of each process. */
import { createRequire } from 'node:module';
import type Stripe from 'stripe';

const load = createRequire(import.meta.url);

export const sdk = (): typeof Stripe => load('stripe');

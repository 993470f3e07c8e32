/** Opens the challenge that the configuration selects. */
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { openAltcha } from './challenge/altcha.ts';
import type { Challenge } from './challenge/challenge.ts';
import { openTurnstile } from './challenge/turnstile.ts';

export function openChallenge(config: NonNullable<Config['challenge']>, clock: Clock): Challenge {
  return config.kind === 'altcha' ? openAltcha(config, clock) : openTurnstile(config, clock);
}

import type { Clock } from '../../ports/system.ts';
import type { Bus } from '../../storage/ports/bus.ts';
import { createMessenger, type Messenger, signedPrincipals } from './messenger.ts';
import { createPrincipalVerifier } from './principal-tokens.ts';

/** The messenger of a process: principals are believed when auth signed them, by the keys that auth answers for. */
export function createSignedMessenger(bus: Bus, clock: Pick<Clock, 'now' | 'monotonicMs'>): Messenger {
  const keys = async () => (await messenger.call('auth.GetPublicKeys', {}, { requestId: 'principal-keys' })).jwks;
  const messenger = createMessenger(bus, signedPrincipals(createPrincipalVerifier({ keys, clock })));
  return messenger;
}

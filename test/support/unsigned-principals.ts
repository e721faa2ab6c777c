import type { Principal } from '../../services/common/kernel/principal.ts';
import type { PrincipalCarrier } from '../../services/common/platform/messaging/messenger.ts';

/** Principals as they are, for tests of one service without auth: whoever the caller says it is. */
export const unsignedPrincipals: PrincipalCarrier = {
  give: async ({ principal }) => (principal === undefined ? undefined : JSON.stringify(principal)),
  take: async (carried) => JSON.parse(carried) as Principal,
};

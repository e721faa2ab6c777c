import type { TenantId } from '../../common/domain/brand.ts';
import type { Closure } from '../../common/messaging/methods/auth.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Why a tenant does not answer; null when it does, and for one that is gone: nobody belongs to it any more. */
export async function closureOf(
  { rememberedTenants }: Pick<AuthDependencies, 'rememberedTenants'>,
  tenant: TenantId,
): Promise<Closure | null> {
  const { state = 'Active' } = (await rememberedTenants.factsOf(tenant)) ?? {};
  return state === 'Active' ? null : state;
}

import type { AuthDependencies } from '../dependencies.ts';

/** Ends the login tokens presented; what is no token of ours is passed over. API keys stay: they are removed by name. */
export async function logOut(
  { tokens, revokedTokens, clock, news }: AuthDependencies,
  presented: readonly string[],
): Promise<void> {
  for (const token of presented) {
    const claims = await tokens.read(token);
    if (claims === null) continue;
    await revokedTokens.add(claims.tokenId, claims.expiresAt, clock.now());
    news.userChanged(claims.userId);
  }
}

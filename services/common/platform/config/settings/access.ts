import { tokenKeys } from '../token-keys.ts';
import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, optional, secret, setting } = rowsOf('Access');

export const access = {
  accessControl: optional('ENABLE_BACKEND_ACCESS_CONTROL', {
    protects: true,
    type: type.onlyTrue(),
    shownDefault: 'on, except for the open mode on loopback',
    meaning: 'Access control between users; it also switches authentication on. Only the word true is true.',
  }),
  requireAuthentication: optional('REQUIRE_AUTHENTICATION', {
    protects: true,
    type: type.onlyTrue(),
    shownDefault: 'required, except on loopback',
    meaning:
      'Every request needs credentials. With this and the one above unset, a server on loopback is open to its one user and refuses foreign hosts, foreign origins and proxies; set it to true behind a proxy.',
  }),
  defaultUserEmail: setting('DEFAULT_USER_EMAIL', {
    type: type.text(),
    default: 'default_user@example.com',
    meaning: 'Address of the default account.',
  }),
  defaultUserPassword: secret(
    'DEFAULT_USER_PASSWORD',
    'Set: the default account is made at start and gets this password once, if it has none.',
  ),
  jwtSecret: optional('FASTAPI_USERS_JWT_SECRET', {
    type: type.secretText(8),
    secret: true,
    shownDefault: 'generated once into the data directory',
    meaning:
      'Signs login tokens, unless there are signing keys. What vouches for callers between services derives from it too.',
  }),
  jwtAcceptedSecrets: optional('ENGRAM_JWT_ACCEPTED_SECRETS', {
    type: type.secretList(8),
    secret: true,
    meaning:
      'Further secrets whose tokens are accepted, as a comma list or a JSON list. To change the secret without a gap: list the next one here and restart all replicas of auth, exchange the two and restart, drop the former one when its last token has ended.',
  }),
  jwtSigningKeys: optional('ENGRAM_JWT_SIGNING_KEYS', {
    type: tokenKeys(),
    secret: true,
    meaning:
      'Private keys of login tokens (Ed25519, P-256 or RSA) as PEM blocks one after the other, or as JSON Web Keys: the first one signs, all are accepted, `/.well-known/jwks.json` shows the public halves. Changed as the secret is: the next key is listed second before it is listed first. Tokens that the secret signed stay accepted.',
  }),
  rootKeys: optional('ENGRAM_ROOT_KEYS', {
    type: type.namedKeys(),
    secret: true,
    shownDefault: 'generated once into the data directory; none in a cluster',
    meaning:
      'Keys under which secrets are sealed in the store (provider keys of `POST /api/v1/settings`): a comma list of name:base64, 32 bytes each. The first seals, all open. To rotate: add a new one at the end, move it to the front with the next start, which seals everything anew, and remove the old one later. In a cluster the same for every service.',
  }),
  jwtLifetimeSeconds: setting('JWT_LIFETIME_SECONDS', {
    type: type.integer({ min: 0, max: 10 * 365 * 86_400 }),
    default: '3600',
    meaning: 'Lifetime of login tokens in seconds; 0 = no expiry.',
  }),
  cookieName: setting('AUTH_TOKEN_COOKIE_NAME', {
    type: type.text().refine((name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name), 'must be a cookie name'),
    default: 'auth_token',
    meaning: 'Name of the login cookie.',
  }),
  cookieDomain: optional('AUTH_TOKEN_COOKIE_DOMAIN', {
    type: type.text().refine((name) => /^[\w.-]+$/.test(name), 'must be a domain name'),
    meaning: 'Domain of the login cookie; unset = the host that was asked.',
  }),
  resetTokenSecret: optional('FASTAPI_USERS_RESET_PASSWORD_TOKEN_SECRET', {
    type: type.secretText(8),
    secret: true,
    shownDefault: 'derived from the secret of login tokens',
    meaning: 'Signs the tokens of password resets.',
  }),
  verificationTokenSecret: optional('FASTAPI_USERS_VERIFICATION_TOKEN_SECRET', {
    type: type.secretText(8),
    secret: true,
    shownDefault: 'derived from the secret of login tokens',
    meaning: 'Signs the tokens that confirm addresses.',
  }),
  signUp: setting(['ENGRAM_SIGN_UP', 'ENGRAM_PUBLIC_SIGN_UP'], {
    protects: true,
    type: signUp(),
    default: 'open',
    meaning:
      'Who may make accounts by `POST /api/v1/auth/register`: `open` = everybody who reaches the service, `closed` = superusers, who so invite others (identity providers and SCIM go on making theirs). The first account of a closed server is the default account, if it has a password; else, with embedded stores and no identity provider, it is the first one that registers, and becomes a superuser.',
  }),
  minPasswordLength: setting('ENGRAM_MIN_PASSWORD_LENGTH', {
    type: type.integer({ min: 1, max: 128 }),
    default: '8',
    meaning: 'Characters that a new password must have. Passwords that are set already stay as they are.',
  }),
  tenantCreation: setting('ENGRAM_TENANT_CREATION', {
    protects: true,
    type: type.oneOf(['users', 'superusers']),
    default: 'users',
    meaning:
      'Who may make tenants by `POST /api/v1/permissions/tenants`. What is in a tenant counts for its budget and not for the personal one of its maker: `superusers` closes that way around a personal budget.',
  }),
  maxUserApiKeys: setting('MAX_USER_API_KEYS', {
    type: type.integer({ min: 1, max: 10_000 }),
    default: '10',
    meaning: 'API keys per user.',
  }),
  corsAllowedOrigins: optional('CORS_ALLOWED_ORIGINS', {
    type: type.originList(),
    shownDefault: 'the one of `UI_APP_URL`',
    meaning: 'Origins whose pages may call the API, as a comma list; `*` = any (never in the open mode).',
  }),
  uiAppUrl: setting('UI_APP_URL', {
    type: type.httpUrl(),
    default: 'http://localhost:3000',
    meaning: 'Address of the web interface.',
  }),
  trustedProxies: setting('ENGRAM_TRUSTED_PROXIES', {
    type: type.addressRanges(),
    default: '',
    meaning:
      'Addresses and ranges of the proxies in front, as a comma list (`10.0.0.0/8`): their `X-Forwarded-For` tells where a request comes from, which failed logins are counted by. Unset behind a proxy, all clients count as one.',
  }),
  allowedHosts: setting('ENGRAM_ALLOWED_HOSTS', {
    type: type.list(),
    default: '',
    meaning: 'Further host names under which the open mode may be called; loopback names always are.',
  }),
  hosted: setting('ENGRAM_HOSTED', {
    protects: true,
    type: type.flag(),
    default: 'false',
    meaning:
      'The host name of a tenant is a way into it: a request under one acts in that tenant, always needs a credential, and is refused to who does not belong there; keys of a tenant that has host names work under those alone. The proxy in front must pass `Host` on. Other host names: as without.',
  }),
};

/** The former name of the variable was a question that true and false answer. */
function signUp() {
  const words = new Map([
    ['true', 'open'],
    ['false', 'closed'],
  ]);
  return type
    .text()
    .transform((value) => words.get(value.trim().toLowerCase()) ?? value)
    .pipe(type.oneOf(['open', 'closed']));
}

/** Sign-in with OpenID Connect. */
export const oidc = {
  publicUrl: address(
    'ENGRAM_PUBLIC_URL',
    'Address under which browsers reach the API, for example `https://engram.example.com`. Needed with OpenID Connect: `<it>/api/v1/auth/oidc/<name>/callback` is the redirect URI to register at the provider. With https browsers send the login cookie over nothing else. Links of invitations and of `engram login` lead there; without it they lead to the host of the request.',
  ),
  oidcProviders: setting('ENGRAM_OIDC_PROVIDERS', {
    type: type.text(),
    default: '',
    meaning:
      'Where people can sign in, as a JSON list: `[{"name": "corp", "issuer": "https://id.example.com", "clientId": "engram"}]`. Optional keys: `title`, `clientAuthentication` (`basic` or `post`), `scopes`, `audiences` (its access tokens for these are accepted as Bearer), `provision` (accounts are made at first sign-in), `emailDomains`, `tenant` (id of the one to join), `roles` (`{"claim": "groups", "values": {"<claim value>": "<role>"}}`, in that tenant), `allowPrivateNetwork` (the issuer is on http or on a private address).',
  }),
  oidcClientSecrets: secret(
    'ENGRAM_OIDC_CLIENT_SECRETS',
    'Client secrets of the providers, as a JSON object: `{"corp": "…"}`. A provider without one is a public client.',
  ),
};

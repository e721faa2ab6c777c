import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, secret, setting } = rowsOf('Access');

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

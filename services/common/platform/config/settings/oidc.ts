import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

export const oidc = {
  publicUrl: optional({
    names: ['ENGRAM_PUBLIC_URL'],
    section: 'Access',
    type: type.httpUrl(),
    meaning:
      'Address under which browsers reach the API, for example `https://engram.example.com`. Needed with OpenID Connect: `<it>/api/v1/auth/oidc/<name>/callback` is the redirect URI to register at the provider. With https browsers send the login cookie over nothing else. Links of invitations and of `engram login` lead there; without it they lead to the host of the request.',
  }),
  oidcProviders: setting({
    names: ['ENGRAM_OIDC_PROVIDERS'],
    section: 'Access',
    type: type.text(),
    default: '',
    meaning:
      'Where people can sign in, as a JSON list: `[{"name": "corp", "issuer": "https://id.example.com", "clientId": "engram"}]`. Optional keys: `title`, `clientAuthentication` (`basic` or `post`), `scopes`, `audiences` (its access tokens for these are accepted as Bearer), `provision` (accounts are made at first sign-in), `emailDomains`, `tenant` (id of the one to join), `roles` (`{"claim": "groups", "values": {"<claim value>": "<role>"}}`, in that tenant), `allowPrivateNetwork` (the issuer is on http or on a private address).',
  }),
  oidcClientSecrets: optional({
    names: ['ENGRAM_OIDC_CLIENT_SECRETS'],
    section: 'Access',
    type: type.text(),
    secret: true,
    meaning:
      'Client secrets of the providers, as a JSON object: `{"corp": "…"}`. A provider without one is a public client.',
  }),
};

import { expect } from 'chai';
import { problemsOf } from '../../../../test/support/config-problems.ts';
import { loadConfig } from './load-config.ts';

const PUBLIC = { ENGRAM_PUBLIC_URL: 'https://engram.example.com/' };
const TENANT = '6f1b0a52-5d0f-4b7e-9b7c-0f2f6c1f3a11';

function providers(list: unknown, more: Record<string, string> = {}) {
  const variables = { ...PUBLIC, ENGRAM_OIDC_PROVIDERS: JSON.stringify(list), ...more };
  return loadConfig(variables).config.oidcProviders;
}

describe('oidc providers', () => {
  it('need no more than name, issuer and client', () => {
    const list = [{ name: 'corp', issuer: 'https://id.example.com', clientId: 'engram' }];
    expect(providers(list, { ENGRAM_OIDC_CLIENT_SECRETS: '{"corp": "s3cret"}' })).to.deep.equal([
      {
        name: 'corp',
        title: 'corp',
        issuer: 'https://id.example.com',
        clientId: 'engram',
        clientSecret: 's3cret',
        clientAuthentication: 'basic',
        scopes: ['openid', 'profile', 'email'],
        audiences: [],
        provision: false,
        emailDomains: [],
        tenant: null,
        roles: null,
        allowPrivateNetwork: false,
      },
    ]);
    expect(providers([])).to.deep.equal([]);
    expect(loadConfig({}).config.oidcProviders).to.deep.equal([]);
  });

  it('are reported with all that is wrong with them', () => {
    const list = [
      { name: 'Corp', issuer: 'http://id.example.com', clientId: '' },
      { name: 'two', issuer: 'https://b.example.com', clientId: 'x', roles: { claim: 'groups', values: { a: 'b' } } },
      { name: 'three', issuer: 'https://c.example.com?x', clientId: 'x', scopes: ['email'], tenant: 'ours' },
      { name: 'four', issuer: 'https://d.example.com', clientId: 'x', clientSecret: 'typed here' },
    ];
    const problems = problemsOf({ ENGRAM_OIDC_PROVIDERS: JSON.stringify(list) });
    const text = problems.join('\n');
    expect(text).to.match(/provider 1: name must be lower-case/);
    expect(text).to.match(/provider 1: clientId must not be empty/);
    expect(text).to.match(/provider 2 \(two\): roles needs a tenant/);
    expect(text).to.match(/provider 3 \(three\): issuer must be an https address/);
    expect(text).to.match(/provider 3 \(three\): scopes must contain openid/);
    expect(text).to.match(/provider 3 \(three\): tenant must be the id of a tenant/);
    expect(text).to.match(/provider 4 \(four\): .*clientSecret/);
    expect(text).to.match(/ENGRAM_PUBLIC_URL: must be set/);
    expect(text).not.to.include('typed here');
  });

  it('are refused on http unless that is asked for', () => {
    const provider = { name: 'home', issuer: 'http://id.home.example', clientId: 'engram' };
    const variables = { ...PUBLIC, ENGRAM_OIDC_PROVIDERS: JSON.stringify([provider]) };
    expect(problemsOf(variables).join()).to.match(/provider 1 \(home\): issuer must be https/);
    expect(providers([{ ...provider, allowPrivateNetwork: true }])[0]?.issuer).to.equal('http://id.home.example');
  });

  it('have names of their own, and secrets have providers', () => {
    const provider = { name: 'corp', issuer: 'https://id.example.com', clientId: 'engram', tenant: TENANT };
    const variables = { ...PUBLIC, ENGRAM_OIDC_PROVIDERS: JSON.stringify([provider, provider]) };
    expect(problemsOf(variables)).to.deep.equal(['ENGRAM_OIDC_PROVIDERS: the name "corp" is used twice.']);
    const single = { ...PUBLIC, ENGRAM_OIDC_PROVIDERS: JSON.stringify([provider]) };
    const problems = problemsOf({ ...single, ENGRAM_OIDC_CLIENT_SECRETS: '{"crop": "typed"}' });
    expect(problems).to.deep.equal(['ENGRAM_OIDC_CLIENT_SECRETS: no provider has the name "crop".']);
    expect(problemsOf({ ENGRAM_OIDC_CLIENT_SECRETS: '{}' }).join()).to.match(
      /is set, but ENGRAM_OIDC_PROVIDERS is not/,
    );
    expect(problemsOf({ ...single, ENGRAM_OIDC_CLIENT_SECRETS: 'typed' })).to.deep.equal([
      'ENGRAM_OIDC_CLIENT_SECRETS: the value is not JSON.',
    ]);
  });
});

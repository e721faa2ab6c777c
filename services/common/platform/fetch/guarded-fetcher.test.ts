import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { faultOf } from '../../../../test/support/refusal-of.ts';
import type { Fetcher } from '../../ports/documents.ts';
import { createGuardedFetcher, type GuardedFetcherOptions } from './guarded-fetcher.ts';
import { isPublicAddress } from './public-address.ts';

const base: GuardedFetcherOptions = { allowHttpRequests: true, maxBytes: 100_000 };

describe('guarded fetcher', () => {
  let server: Server;
  let origin: string;
  let handle: (request: IncomingMessage, response: ServerResponse) => void;
  let requests: IncomingMessage[];
  const open = createGuardedFetcher({ ...base, allowPrivateAddresses: true, timeoutMs: 3_000 });

  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push(request);
      handle(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('gives body, type, final address and a file name', async () => {
    handle = (_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end('<p>hi</p>');
    const resource = await open.fetch(`${origin}/docs/guide?x=1`);
    expect(await text(resource.body)).to.equal('<p>hi</p>');
    expect(resource.mimeType).to.equal('text/html; charset=utf-8');
    expect(resource.fileName).to.equal('guide.html');
    expect(resource.url).to.equal(`${origin}/docs/guide?x=1`);
    expect(requests[0]?.headers['user-agent']).to.match(/^Engram/);
  });

  it('takes the name that the server gives, without folders', async () => {
    handle = (_, response) =>
      response
        .writeHead(200, {
          'content-disposition': 'attachment; filename="x.pdf"; filename*=UTF-8\'\'..%2Fr%C3%A9sum%C3%A9.pdf',
        })
        .end('x');
    const resource = await open.fetch(`${origin}/download`);
    resource.body.destroy();
    expect(resource.fileName).to.equal('résumé.pdf');
  });

  it('unpacks gzip and brotli', async () => {
    handle = (request, response) => {
      const isBrotli = request.url === '/br';
      response
        .setHeader('content-encoding', isBrotli ? 'br' : 'gzip')
        .end((isBrotli ? brotliCompressSync : gzipSync)('packed text'));
    };
    expect(await text((await open.fetch(`${origin}/br`)).body)).to.equal('packed text');
    expect(await text((await open.fetch(`${origin}/gz`)).body)).to.equal('packed text');
  });

  it('stops a body that unpacks to more than the limit', async () => {
    handle = (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(20_000_000)));
    const resource = await open.fetch(`${origin}/bomb`);
    const refused = await faultOf(buffer(resource.body));
    expect(refused).to.include({ name: 'PayloadTooLargeError', status: 413 });
  });

  it('refuses a body that is declared larger than the limit before reading it', async () => {
    handle = (_, response) => response.writeHead(200, { 'content-length': '2000000000' }).write('x');
    expect((await faultOf(open.fetch(`${origin}/big`))).name).to.equal('PayloadTooLargeError');
  });

  it('names the status of an answer that is no success', async () => {
    handle = (_, response) => response.writeHead(404).end('nothing here');
    expect(await faultOf(open.fetch(`${origin}/gone?token=secret`))).to.deep.equal({
      name: 'IngestionError',
      status: 415,
      message: `${origin}/gone answered with status 404`,
    });
  });

  it('follows redirects and gives up when they go round', async () => {
    handle = (request, response) => {
      if (request.url === '/start') response.writeHead(302, { location: '/end.txt' }).end();
      else if (request.url === '/end.txt') response.end('arrived');
      else response.writeHead(307, { location: '/loop' }).end();
    };
    const resource = await open.fetch(`${origin}/start`);
    expect(await text(resource.body)).to.equal('arrived');
    expect(resource.url).to.equal(`${origin}/end.txt`);
    expect((await faultOf(open.fetch(`${origin}/loop`))).message).to.match(/redirects more than 5 times/);
  });

  it('ends a fetch whose server does not answer, and one that stops in the middle', async () => {
    const hasty = createGuardedFetcher({ ...base, allowPrivateAddresses: true, timeoutMs: 150 });
    handle = (request, response) => {
      if (request.url === '/half') response.write('half');
    };
    expect((await faultOf(hasty.fetch(`${origin}/silent`))).message).to.match(/did not answer within 0.15 seconds/);
    const half = await hasty.fetch(`${origin}/half`);
    expect((await faultOf(text(half.body))).message).to.match(/did not end within 0.15 seconds/);
  });

  it('ends with the reason of the signal when the caller gives up', async () => {
    handle = () => undefined;
    const controller = new AbortController();
    const fetching = open.fetch(`${origin}/x`, controller.signal);
    setTimeout(() => controller.abort(new Error('changed my mind')), 20);
    expect(await fetching.catch((error: Error) => error.message)).to.equal('changed my mind');
  });

  describe('what it refuses', () => {
    const guarded = createGuardedFetcher(base);
    const resolving = (...addresses: string[]): Fetcher =>
      createGuardedFetcher({
        ...base,
        resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      });

    it('speaks in the words of the contract', async () => {
      expect(await faultOf(guarded.fetch('http://127.0.0.1:8000/'))).to.deep.equal({
        name: 'SSRFProtectionError',
        status: 403,
        message: "URL host '127.0.0.1' points to a non-public address and is blocked.",
      });
    });

    it('refuses every URL when fetching is switched off', async () => {
      const off = createGuardedFetcher({ ...base, allowHttpRequests: false });
      expect((await faultOf(off.fetch('https://example.com/'))).name).to.equal('SSRFProtectionError');
    });

    it('refuses names that lead to this machine, and names that lead nowhere', async () => {
      expect((await faultOf(guarded.fetch('http://localhost:9/'))).message).to.match(
        /^URL host 'localhost' resolves to a non-public address and is blocked\.$/,
      );
      const nowhere = createGuardedFetcher({ ...base, resolve: () => Promise.reject(new Error('ENOTFOUND')) });
      expect((await faultOf(nowhere.fetch('http://no.such.host/'))).message).to.equal(
        "Could not resolve URL host 'no.such.host'.",
      );
    });

    it('refuses a name that answers with a public and a private address', async () => {
      expect((await faultOf(resolving('93.184.215.14', '10.0.0.1').fetch('http://both.example/'))).name).to.equal(
        'SSRFProtectionError',
      );
    });

    it('refuses other schemes, credentials and the ports of other services', async () => {
      const fetcher = resolving('93.184.215.14');
      for (const url of [
        'ftp://example.com/',
        'file:///etc/passwd',
        'http://u:p@example.com/',
        'http://example.com:22/',
        'http://example.com:6379/',
        'nonsense',
      ]) {
        expect((await faultOf(fetcher.fetch(url))).name, url).to.equal('SSRFProtectionError');
      }
    });

    it('checks the target of a redirect again', async () => {
      const fetcher = createGuardedFetcher({ ...base, allowPrivateAddresses: ['127.0.0.1'] });
      for (const location of [
        'http://127.0.0.2/',
        'http://169.254.169.254/latest/meta-data',
        '//[::1]/',
        'gopher://127.0.0.1/',
      ]) {
        handle = (_, response) => response.writeHead(302, { location }).end();
        expect((await faultOf(fetcher.fetch(origin))).name, location).to.equal('SSRFProtectionError');
      }
      expect(requests).to.have.length(4);
    });

    it('connects to the address that was checked, whatever the name says later', async () => {
      let lookups = 0;
      const fetcher = createGuardedFetcher({
        ...base,
        allowPrivateAddresses: true,
        resolve: async () => {
          lookups += 1;
          return [{ address: '127.0.0.1', family: 4 }];
        },
      });
      handle = (request, response) => response.end(request.headers.host);
      const port = new URL(origin).port;
      expect(await text((await fetcher.fetch(`http://pinned.invalid:${port}/`)).body)).to.equal(
        `pinned.invalid:${port}`,
      );
      expect(lookups).to.equal(1);
    });

    it('refuses private IPv4 addresses in every spelling that URLs allow', async () => {
      const octet = fc.integer({ min: 0, max: 255 });
      const privateAddress = fc.oneof(
        fc.tuple(fc.constant(127), octet, octet, octet),
        fc.tuple(fc.constant(10), octet, octet, octet),
        fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
        fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
        fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
        fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
        fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
        fc.tuple(fc.constant(0), octet, octet, octet),
      );
      await fc.assert(
        fc.asyncProperty(privateAddress, fc.integer({ min: 0, max: 9 }), async (address, spelling) => {
          const refused = await faultOf(guarded.fetch(`http://${spell(address, spelling)}/`));
          expect(refused.name).to.equal('SSRFProtectionError');
          expect(refused.message).to.match(/non-public address/);
        }),
        { numRuns: 400 },
      );
    });

    it('refuses IPv6 addresses that are not public or carry an IPv4 address', () => {
      const hidden = [
        '::1',
        '::',
        '::ffff:127.0.0.1',
        '::ffff:7f00:1',
        '0:0:0:0:0:ffff:10.0.0.1',
        '::ffff:8.8.8.8',
        '::127.0.0.1',
        '64:ff9b::7f00:1',
        '64:ff9b::8.8.8.8',
        '64:ff9b:1::a00:1',
        '2002:7f00:1::',
        '2001:0:7f00:1::',
        'fe80::1',
        'fe80::1%eth0',
        'fec0::1',
        'fc00::1',
        'fd12:3456::1',
        'ff02::1',
        '2001:db8::1',
        '100::1',
        '3fff::1',
        '5f00::1',
        '4000::1',
        '2001:10::1',
      ];
      for (const address of hidden) expect(isPublicAddress(address), address).to.equal(false);
      for (const address of [
        '2606:4700:4700::1111',
        '2a00:1450:4001:81b::200e',
        '8.8.8.8',
        '93.184.215.14',
        '100.63.0.1',
        '172.32.0.1',
      ]) {
        expect(isPublicAddress(address), address).to.equal(true);
      }
    });
  });
});

/** Decimal, hexadecimal, octal, mixed, shortened, with trailing dot, in full-width digits, percent-encoded, inside IPv6. */
function spell([a, b, c, d]: readonly [number, number, number, number], spelling: number): string {
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const dotted = `${a}.${b}.${c}.${d}`;
  switch (spelling) {
    case 0:
      return dotted;
    case 1:
      return String(whole);
    case 2:
      return `0x${whole.toString(16)}`;
    case 3:
      return `0${whole.toString(8)}`;
    case 4:
      return `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`;
    case 5:
      return `${a}.${b}.${(c << 8) | d}`;
    case 6:
      return `${dotted}.`;
    case 7:
      return [...dotted]
        .map((digit) => (digit === '.' ? '。' : String.fromCharCode(digit.charCodeAt(0) + 0xfee0)))
        .join('');
    case 8:
      return `[::ffff:${dotted}]`;
    default:
      return [...dotted].map((digit) => (digit === '.' ? digit : `%${digit.charCodeAt(0).toString(16)}`)).join('');
  }
}

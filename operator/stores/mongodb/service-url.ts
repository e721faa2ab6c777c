/** The same servers and options, as a user of the given database. */
export function urlFor(
  administratorUrl: string,
  user: { readonly name: string; readonly password: string; readonly database: string },
): string {
  const { scheme, hosts, options } = partsOf(administratorUrl);
  options.set('authSource', user.database);
  return `${scheme}://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@${hosts}/?${options}`;
}

/** The same servers and options, as nobody. */
export function withoutUser(administratorUrl: string): string {
  const { scheme, hosts, options } = partsOf(administratorUrl);
  return `${scheme}://${hosts}/?${options}`;
}

/** How the administrator logs in is nobody else's business; users are made with the server's own mechanism. */
function partsOf(url: string) {
  const [, scheme = 'mongodb', hosts = '', query = ''] =
    /^(mongodb(?:\+srv)?):\/\/(?:[^/?]*@)?([^/?@]+)(?:\/[^?]*)?(?:\?(.*))?$/i.exec(url) ?? [];
  const options = new URLSearchParams(query);
  for (const name of [...options.keys()]) {
    if (/^auth(Source|Mechanism|MechanismProperties)$/i.test(name)) options.delete(name);
  }
  return { scheme, hosts, options };
}

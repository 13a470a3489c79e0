/** True if an address to listen on is reached by this machine only. */
export const isLoopback = (address: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(address);

/** True if a Host header is one of this machine's own names. A page of elsewhere whose name leads here has its own. */
export const isOwnHost = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);

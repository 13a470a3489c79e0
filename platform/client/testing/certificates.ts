/** Key and certificate of a server, as PEM; signed by itself, valid until 2126. They guard nothing. */
export interface Identity {
  key: string;
  cert: string;
}

/** For localhost. */
export const localhost: Identity = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgE1VGmAdTa7KZOX5h
Wwy1S+e6TAcnxGmSlGmGlyLWmtmhRANCAARKipuCbePdgIlOhAq7hI/5thoLPOcI
jWOymhJz3NnRl6oXqlwFBwrhfSqyPJ54Bc9+JUVHKy4GQUrL1lCIUcmt
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUMIsN89xE9mKnwDgHttI6ykEzpYEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE3MjUxOVoYDzIxMjYxMDI5
MTcyNTE5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARKipuCbePdgIlOhAq7hI/5thoLPOcIjWOymhJz3NnRl6oXqlwFBwrh
fSqyPJ54Bc9+JUVHKy4GQUrL1lCIUcmto28wbTAdBgNVHQ4EFgQUkZ+0HKePZXYQ
6zzUolSAj4rgsG4wHwYDVR0jBBgwFoAUkZ+0HKePZXYQ6zzUolSAj4rgsG4wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgFpgw99jONrcFU6yeC/Zd7+8D4opTusJMeJvs/d1CvskCIQD6
TnVw2oaiLbn5/+jCmOqPymhIgrwfD9P5gaNQjHu2EQ==
-----END CERTIFICATE-----`,
};

/** For elsewhere.example.com. */
export const elsewhere: Identity = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7MKBWpxU7D2ka9SE
B3uVmYy9lFOca7jKwSihQsrW54ChRANCAAQaX1ks7n2x2hiN83sVf4bJOaSofIsq
Y9Kdyo0N1y/2PW+UoFqv86TfemCrM8DtK8jk1GfGAkPhZN7cQgXFaqks
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBuTCCAV+gAwIBAgIUT7W6s1nEKbR3ZCE1C3vVsS9d3TcwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVZWxzZXdoZXJlLmV4YW1wbGUuY29tMCAXDTI2MTEyMjE3MjUx
OVoYDzIxMjYxMDI5MTcyNTE5WjAgMR4wHAYDVQQDDBVlbHNld2hlcmUuZXhhbXBs
ZS5jb20wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQaX1ks7n2x2hiN83sVf4bJ
OaSofIsqY9Kdyo0N1y/2PW+UoFqv86TfemCrM8DtK8jk1GfGAkPhZN7cQgXFaqks
o3UwczAdBgNVHQ4EFgQUXXnzwZjbmc1Mrn/6gbVguB/Y2yUwHwYDVR0jBBgwFoAU
XXnzwZjbmc1Mrn/6gbVguB/Y2yUwDwYDVR0TAQH/BAUwAwEB/zAgBgNVHREEGTAX
ghVlbHNld2hlcmUuZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgX9VoptUL
N1+hp1TbJQxj+0npMGEL+9RinIuzsvnGkdACIQDSBInwcj5K4wezbdbmlg3Lx5Ul
u+ZWZiyFlnBdwSxVeA==
-----END CERTIFICATE-----`,
};

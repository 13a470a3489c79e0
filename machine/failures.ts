/** The message of anything thrown; errors of another realm count as errors too. A missing Pulumi SDK names its remedy. */
export function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("message" in error) || typeof error.message !== "string") {
    return typeof error === "string" ? error : JSON.stringify(error);
  }
  const isMissing =
    "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("'@pulumi/pulumi'");
  return isMissing ? "the Pulumi SDK is not installed: run 'npm install @pulumi/pulumi'" : error.message;
}

/** True if the file is not there by the error's code. After any other error it may be: never go on as without it. */
export const isAbsent = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's quota is used up",
  EFBIG: "files may not grow any more",
  EMFILE: "this process has no file descriptor left (raise ulimit -n)",
  ENFILE: "the machine has no file descriptor left",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a file stands in its place",
  ELOOP: "a symbolic link stands in its place",
  ENAMETOOLONG: "the path is too long",
};

/** Why a file system refused something, in words. */
export const whyRefused = (error: unknown): string =>
  reasons[(error as NodeJS.ErrnoException).code ?? ""] ?? messageOf(error);

// What the page has made, as a file to keep.

/** Hands a file to the browser as a download. Its memory is given back at once. */
export function saveFile(file: File): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = file.name;
  link.click();
  // The browser takes the bytes when the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// What is seen as a file to keep.

/** Let the browser save a blob under a name. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Save the part of a canvas from `left` on, `width` pixels, as a PNG. */
export function savePng(canvas, left, width, height, name) {
  const part = document.createElement("canvas");
  [part.width, part.height] = [width, height];
  part.getContext("2d").drawImage(canvas, -left, 0);
  part.toBlob((blob) => save(blob, name), "image/png");
}

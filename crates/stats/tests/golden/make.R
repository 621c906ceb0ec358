# Golden values of the statistics of this room, from R: Rscript make.R > r.tsv, in this directory.
#
# A line is `statistic <tab> input;input;... <tab> output,output,...`, as in scipy.tsv.
cat("# make.R: ", R.version.string, ", stats ", as.character(packageVersion("stats")), "\n", sep = "")
text <- function(v) paste(ifelse(is.na(v), "-", sprintf("%.15g", v)), collapse = ",")
row <- function(name, inputs, outputs)
  cat(name, "\t", paste(sapply(inputs, text), collapse = ";"), "\t", text(outputs), "\n", sep = "")
set.seed(20261121, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
for (n in c(6, 7, 10, 15, 30, 49)) for (level in c(0.90, 0.95)) {
  d <- round(rnorm(n, 0.5, 2), 4)
  w <- wilcox.test(d, conf.int = TRUE, conf.level = level, exact = TRUE)
  row("hodges_lehmann", list(d, level), c(w$estimate, w$conf.int))
  row("signed_rank", list(d), c(w$statistic, w$p.value))
}
for (sizes in list(c(5, 5), c(8, 6), c(10, 12), c(20, 25))) {
  x <- round(rnorm(sizes[1], 0, 2), 4)
  y <- round(rnorm(sizes[2], 1, 2), 4)
  w <- wilcox.test(y, x, conf.int = TRUE, conf.level = 0.95, exact = TRUE)
  row("shift_interval", list(x, y, 0.95), c(w$estimate, w$conf.int))
  row("shift", list(x, y), c(w$estimate, w$p.value))
}
for (n in c(5, 8, 9, 20)) {
  x <- round(rnorm(n), 4)
  y <- round(x + rnorm(n), 4)
  k <- cor.test(x, y, method = "kendall", exact = TRUE)
  row("kendall", list(x, y), c(k$estimate, k$p.value))
}
for (n in c(1, 2, 5, 10)) {
  p <- round(runif(n)^2, 6)
  row("holm", list(p), p.adjust(p, "holm"))
  row("benjamini_hochberg", list(p), p.adjust(p, "BH"))
}
for (count in c(1, 7, 40)) row("poisson_lower", list(c(count, 0.95)), poisson.test(count, alternative = "greater")$conf.int[1])
for (n in c(3, 10, 25)) {
  v <- round(rnorm(n, 100, 5), 4)
  t <- t.test(v)
  row("mean_interval", list(v, 0.95), c(t$estimate, t$conf.int))
  row("median", list(v), median(v))
  row("median_absolute_deviation", list(v), mad(v, constant = 1))
}

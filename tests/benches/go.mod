module example.test/benches

go 1.19

// A test may say it.
package c
